-- To find the keys that backup codes are hashed with, and those of a former key.
CREATE INDEX CONCURRENTLY backup_code_hashed_with ON backup_code (split_part(mac, '.', 1));
