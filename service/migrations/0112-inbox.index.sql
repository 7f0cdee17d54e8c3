-- To delete the oldest messages of an application's development inbox, and to list the others.
CREATE INDEX CONCURRENTLY inbox_of_application ON inbox (application, position);
