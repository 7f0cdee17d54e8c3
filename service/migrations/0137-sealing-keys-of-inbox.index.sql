-- To find the keys that messages in the inbox are sealed with.
CREATE INDEX CONCURRENTLY inbox_sealing_key ON inbox (split_part(sealed, '.', 2));
