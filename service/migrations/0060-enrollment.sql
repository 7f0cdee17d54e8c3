-- The purpose `enrolment` is now spelled `enrollment`. A challenge lives ten minutes at most; those with the former
-- spelling are deleted, and their users request a new code.
DELETE FROM challenge WHERE purpose = 'enrolment';
