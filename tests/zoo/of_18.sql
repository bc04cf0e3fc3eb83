-- What only 18 has, as far as a target of 15 can take it.
CREATE TABLE app.named_not_null (id integer CONSTRAINT "not null, named" NOT NULL PRIMARY KEY,
    a text CONSTRAINT quiet NOT NULL NO INHERIT, b text);
INSERT INTO app.named_not_null VALUES (1, 'a', NULL);
ALTER TABLE app.named_not_null ADD CONSTRAINT later NOT NULL b NOT VALID;
CREATE TABLE app.loosely (id integer PRIMARY KEY, n integer CONSTRAINT loose CHECK (n > 0) NOT ENFORCED,
    c integer CONSTRAINT loose_key REFERENCES app.customers NOT ENFORCED);
INSERT INTO app.loosely VALUES (1, -1, 77);
CREATE TABLE app.part_identity (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, t text)
    PARTITION BY RANGE (id);
CREATE TABLE app.part_identity_1 PARTITION OF app.part_identity FOR VALUES FROM (1) TO (1000);
INSERT INTO app.part_identity (t) VALUES ('x');
