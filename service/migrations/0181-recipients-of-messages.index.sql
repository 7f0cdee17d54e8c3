-- To find the messages to a contact. An index of a partitioned table cannot be built while others write, those of its partitions can.
CREATE INDEX CONCURRENTLY *_of_recipient ON EACH PARTITION OF outbox (application, recipient) WHERE recipient IS NOT NULL;
