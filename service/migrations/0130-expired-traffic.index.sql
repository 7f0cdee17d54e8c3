-- To delete the counts of countries and prefixes to which nothing was sent for a month.
CREATE INDEX CONCURRENTLY phone_traffic_expiry ON phone_traffic (day);
