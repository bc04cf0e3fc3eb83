-- Tables that need extensions.sql.
CREATE TABLE app.of_extensions (
    id integer PRIMARY KEY,
    geom geometry(Point, 4326) DEFAULT st_setsrid(st_makepoint(1, 2), 4326),
    geog geography,
    box box2d,
    h ext.hstore DEFAULT 'a=>1'::ext.hstore,
    ci citext DEFAULT 'Case',
    cis citext[],
    path ext.ltree,
    code text DEFAULT encode(ext.digest('x', 'sha256'), 'hex'),
    salt text DEFAULT ext.gen_salt('bf'),
    CHECK (ci <> 'no'::citext),
    UNIQUE (ci));
CREATE DOMAIN app.email AS citext CHECK (VALUE ~ '@');
CREATE TABLE app.of_domain (id integer PRIMARY KEY, e app.email);
CREATE INDEX geom_idx ON app.of_extensions USING gist (geom);
CREATE INDEX hstore_idx ON app.of_extensions USING gin (h);
CREATE INDEX ltree_idx ON app.of_extensions USING gist (path ext.gist_ltree_ops (siglen = 100));
CREATE INDEX trgm_idx ON app.of_extensions USING gin (code ext.gin_trgm_ops);
INSERT INTO app.of_extensions (id, geog, box, cis, path) VALUES
    (1, 'POINT(1 2)', 'BOX(0 0,1 1)', ARRAY['A', 'b'], 'a.b.c');
INSERT INTO app.of_domain VALUES (1, 'A@b');
