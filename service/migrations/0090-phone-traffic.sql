-- What an application sends to phones, by country (GB) and by prefix (a number without its last four digits), against SMS
-- pumping: how many messages in the current period (an hour), and how many codes were sent and typed. Both are halved when
-- a day begins. For the scope `spend`, the keys are day and month and the count is money in millionths.
CREATE TABLE phone_traffic (
  application text NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  period bigint NOT NULL DEFAULT 0,
  in_period bigint NOT NULL DEFAULT 0,
  day integer NOT NULL DEFAULT 0,
  sent integer NOT NULL DEFAULT 0,
  typed integer NOT NULL DEFAULT 0,
  exhausted_at bigint NOT NULL DEFAULT 0,
  paused_at bigint,
  PRIMARY KEY (application, scope, key)
) WITH (fillfactor = 70);
CREATE INDEX phone_traffic_paused ON phone_traffic (application) WHERE paused_at IS NOT NULL;
