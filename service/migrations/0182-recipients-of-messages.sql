-- Finds the indexes of the same definition and takes them over.
CREATE INDEX outbox_of_recipient ON outbox (application, recipient) WHERE recipient IS NOT NULL;
