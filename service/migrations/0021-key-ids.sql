-- Keyed hashes begin with the id of their key, as sealed texts do, so that a secret can be rotated while they are in use.
-- Challenges of an earlier version are deleted; they would live ten minutes at most.
UPDATE backup_code SET mac = (SELECT min(key_id) FROM sealing_key) || '.' || mac
WHERE strpos(mac, '.') = 0 AND EXISTS (SELECT FROM sealing_key);
DELETE FROM challenge WHERE strpos(code_mac, '.') = 0;
