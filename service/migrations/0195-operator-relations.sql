-- Who holds the accounts of operators. Every account begins with a holder of its own, and gets a new one when the command line makes
-- it independent. A relation says that one holder gave a link or a role to the other, or asked for it; it is stored in both
-- directions. Holders who are related, directly or through others, count as one person, so relations are never deleted, not even with
-- their accounts.
ALTER TABLE operator_account ADD COLUMN holder text NOT NULL DEFAULT gen_random_uuid()::text;
CREATE TABLE operator_relation (
  holder text NOT NULL,
  related text NOT NULL,
  PRIMARY KEY (holder, related)
);
-- What was recorded so far.
INSERT INTO operator_relation (holder, related)
SELECT DISTINCT pair.holder, pair.related
FROM audit
JOIN operator_account AS changer ON changer.email = audit.who
JOIN operator_account AS changed ON changed.email = split_part(audit.detail, ' ', 1)
CROSS JOIN LATERAL (VALUES (changer.holder, changed.holder), (changed.holder, changer.holder)) AS pair (holder, related)
WHERE audit.action IN ('operator.invited', 'operator.reset', 'operator.role_changed') AND changer.holder <> changed.holder;
-- Links that are valid once the request is approved, by their hash.
ALTER TABLE approval_request ADD COLUMN invitation text;
