-- Mailboxes whose owner reported a mail of an application as spam. They get no more mail of this application. In lower case.
CREATE TABLE mail_complaint (
  application text NOT NULL,
  email text NOT NULL,
  complained_at bigint NOT NULL,
  PRIMARY KEY (application, email)
);
