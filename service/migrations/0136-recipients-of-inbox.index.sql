-- To find the messages to a contact.
CREATE INDEX CONCURRENTLY inbox_of_recipient ON inbox (application, lower(recipient));
