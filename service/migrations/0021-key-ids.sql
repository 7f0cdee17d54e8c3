-- Keyed hashes name their key, as sealed texts do, so that a secret can be exchanged while its hashes live.
-- A challenge lives ten minutes at most; those of an earlier version end here.
UPDATE backup_code SET mac = (SELECT min(key_id) FROM sealing_key) || '.' || mac
WHERE strpos(mac, '.') = 0 AND EXISTS (SELECT FROM sealing_key);
DELETE FROM challenge WHERE strpos(code_mac, '.') = 0;
