-- What the carrier last reported about a message: delivered, failed or complaint. `state` can now be delivered or failed, too.
ALTER TABLE outbox ADD COLUMN report text;
