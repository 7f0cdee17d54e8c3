import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_KEY, type Defect, imperfectService } from '../cli/imperfect-service.js'
import { type Consumer, consumer } from './kit.js'

describe('the command countersign contract of the packed package', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({})
  })

  afterAll(() => project.dispose())

  async function contract(defect?: Defect) {
    const { baseUrl } = await imperfectService(defect)
    return project.countersign(['contract', '--base-url', baseUrl], { MFA_API_KEY: API_KEY })
  }

  it('finds no defect in a service that has the published API, and prints its dialect', async () => {
    const { code, out, err } = await contract()
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('service.dialect: "published"')
    expect(out).toContain('No defect found.')
  })

  it('finds a defect, and ends with 1', async () => {
    const { code, out } = await contract('accepts a code twice')
    expect(out).toMatch(/^DEFECT .*: a code is accepted twice$/m)
    expect(code).toBe(1)
  })
})
