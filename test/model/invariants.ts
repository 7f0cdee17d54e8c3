import type { Rule, Session, State } from './model.js'

const some = ({ browsers }: State, isSo: (session: Session) => boolean) =>
  browsers.some(({ session }) => session && isSo(session))
const reaches = ({ stage }: Session, broken?: Rule) => stage !== 'pending' || broken === 'gate'

/** The sentences that hold in every state, and the rules without which it would be broken. */
export const INVARIANTS: Record<string, { isBroken(state: State, broken?: Rule): boolean; needs: Rule[] }> = {
  'Nobody reaches a protected page without having shown a factor that the user has': {
    isBroken: (state, broken) =>
      some(state, (session) => reaches(session, broken) && session.restsOn === 'nothing'),
    needs: ['gate'],
  },
  'A code counts once': { isBroken: ({ wrong }) => wrong === 'counted twice', needs: ['once'] },
  'A weak factor never changes a stronger one': {
    isBroken: ({ wrong }) => wrong === 'weak changed strong',
    needs: ['strongest'],
  },
  'What one browser shows never counts for another': {
    isBroken: (state) => some(state, ({ restsOn }) => restsOn === 'elsewhere'),
    needs: ['own challenge'],
  },
  'After logout or reset nothing that came before counts': {
    isBroken: (state) => some(state, (session) => reaches(session) && session.restsOn === 'ended'),
    needs: ['logout', 'reset', 'late'],
  },
  'Acting never lends the user’s factors': {
    isBroken: ({ wrong }) => wrong === 'acting lent',
    needs: ['acting'],
  },
}
