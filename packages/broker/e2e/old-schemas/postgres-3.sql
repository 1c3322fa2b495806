-- A ledger as a broker with schema 3 left it: two reservations of rome at paris, one of them released; tokyo is cordoned.
CREATE SCHEMA broker;
CREATE TABLE broker.adoption (
    name text NOT NULL,
    body text NOT NULL,
    seal bigint NOT NULL
);
CREATE TABLE broker.advertisement (
    cluster_id text NOT NULL,
    received_at bigint NOT NULL,
    body text NOT NULL,
    seal bigint NOT NULL
);
CREATE TABLE broker.audit (
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    line text NOT NULL,
    hash text NOT NULL
);
CREATE TABLE broker.closed_key (
    name text NOT NULL,
    body text NOT NULL,
    seal bigint NOT NULL
);
CREATE TABLE broker.cordon (
    cluster_id text NOT NULL,
    body text NOT NULL,
    seal bigint NOT NULL
);
CREATE TABLE broker.decision (
    sequence bigint NOT NULL,
    id text NOT NULL,
    at bigint NOT NULL,
    body bytea NOT NULL,
    seal bigint NOT NULL
);
ALTER TABLE broker.decision ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME broker.decision_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE broker.lease (
    one smallint NOT NULL,
    epoch bigint NOT NULL,
    instance text NOT NULL,
    holder text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ledger_id text NOT NULL,
    commit_seq bigint NOT NULL,
    "time" bigint NOT NULL,
    audit_sequence bigint NOT NULL,
    audit_hash text NOT NULL,
    trimmed_sequence bigint NOT NULL,
    trimmed_hash text NOT NULL,
    seal bigint NOT NULL,
    CONSTRAINT lease_one_check CHECK ((one = 1))
);
CREATE TABLE broker.migration (
    number bigint NOT NULL
);
CREATE TABLE broker.reservation (
    id text NOT NULL,
    phase text NOT NULL,
    body text NOT NULL,
    seal bigint NOT NULL
);
CREATE TABLE broker.table_sum (
    name text NOT NULL,
    row_count bigint NOT NULL,
    seal_sum bigint NOT NULL
);
CREATE TABLE broker.term (
    epoch bigint NOT NULL,
    holder text NOT NULL,
    since_commit bigint NOT NULL,
    began_at timestamp with time zone NOT NULL
);
INSERT INTO broker.adoption VALUES ('window', '{"since":1794983318800,"until":1795069718800,"cause":"created"}', 3158591908);
INSERT INTO broker.advertisement VALUES ('paris', 1794983318826, '{"advertisement":{"clusterId":"paris","clusterName":"cluster-advertisement","capacity":{"cpuMillis":16000,"memoryBytes":68719476736,"storageBytes":0,"gpus":0,"extended":{}},"allocatable":{"cpuMillis":16000,"memoryBytes":68719476736,"storageBytes":0,"gpus":0,"extended":{}},"allocated":{"cpuMillis":0,"memoryBytes":0,"storageBytes":0,"gpus":0,"extended":{}},"usage":[],"nodeShapes":[],"gpuModels":[],"labels":{},"protocol":2,"statedAt":0},"receivedAt":1794983318826,"replacedInstances":[]}', 2823569094);
INSERT INTO broker.advertisement VALUES ('tokyo', 1794983318835, '{"advertisement":{"clusterId":"tokyo","clusterName":"cluster-advertisement","capacity":{"cpuMillis":16000,"memoryBytes":68719476736,"storageBytes":0,"gpus":0,"extended":{}},"allocatable":{"cpuMillis":16000,"memoryBytes":68719476736,"storageBytes":0,"gpus":0,"extended":{}},"allocated":{"cpuMillis":0,"memoryBytes":0,"storageBytes":0,"gpus":0,"extended":{}},"usage":[],"nodeShapes":[],"gpuModels":[],"labels":{},"protocol":2,"statedAt":0},"receivedAt":1794983318835,"replacedInstances":[]}', 1709404558);
INSERT INTO broker.audit VALUES (1, 1794983318800, '[1794983318800,1,"broker","open-adoption","ledger","Adoption (created): holds made before 2026-11-18T06:28:38.800Z are adopted until 2026-11-19T06:28:38.800Z."]', '420f835ff9c45e5708aebb303e207c8c300b1aa51fba2e942e7685a50e20aa83');
INSERT INTO broker.audit VALUES (2, 1794983318843, '[1794983318843,1,"rome","reserve","rsv-rome-upj6vwe7em7sesm7","paris lends 2 CPU / 4Gi Memory to rome. Decision dec-1a1ed57d53a4b36e."]', 'e030b13984d4a3c3fd4b9f95c22b68489207c0de969ee4dcbfe0166ae112146e');
INSERT INTO broker.audit VALUES (3, 1794983318856, '[1794983318856,2,"rome","reserve","rsv-rome-kepkuzrrvc3onftg","paris lends 2 CPU / 4Gi Memory to rome. Decision dec-1a1ed57d548588bb."]', '2629225b34defd7752a3f9e32beb98059fb9028e0111b33833475ae323319284');
INSERT INTO broker.audit VALUES (4, 1794983318861, '[1794983318861,3,"rome","release","rsv-rome-kepkuzrrvc3onftg","Ended: ReleasedByRequester."]', 'd314177d9b020972fa4e10d9b84cfcd8a031cd6246d0145dc235f9e39700b871');
INSERT INTO broker.audit VALUES (5, 1794983318872, '[1794983318872,4,"admin","cordon","tokyo","Cordoned: new kernel"]', 'f53d1455e281497aac1a3af67170786def7b1bc9b7978c964eb2c45a6578e67d');
INSERT INTO broker.cordon VALUES ('tokyo', '{"clusterId":"tokyo","cordon":{"at":1794983318872,"by":"admin","why":"new kernel"}}', 2887864799);
INSERT INTO broker.decision OVERRIDING SYSTEM VALUE VALUES (1, 'dec-1a1ed57d53a4b36e', 1794983318843, '\x4c0300007b2276657273696f6e223a312c226465636973696f6e223a7b226964223a226465632d31613165643537643533613462333665222c226174223a313739343938333331383834332c22726571756573746572223a22726f6d65222c2272657175657374223a7b227265736f7572636573223a7b226370754d696c6c6973223a323030302c226d656d6f72794279746573223a343239343936373239362c2273746f726167654279746573223a302c2267707573223a302c22657874656e646564223a7b7d7d2c227072696f72697479223a302c22746172676574223a227061726973222c22636f6e73747261696e7473223a7b7d2c2274696572223a226f6e2d64656d616e64227d2c22706f6c69637956657273696f6e223a2264656661756c74222c2277656967687473223a7b227265736f7572636573223a302e372c22636f7374223a302e332c226c6174656e6379223a302c2272656c696162696c697479223a307d2c2263757272656e6379223a22455552222c2277696e6e6572223a227061726973222c226d61726b6574223a7b226d656469616e526174696e6773223a7b7d7d2c22636f6e73696465726564223a322c22666974746564223a312c22726566757365644279223a7b22746172676574223a317d7d2c22636c7573746572496473223a5b227061726973222c22746f6b796f225d2c2272656675736564223a5b5b312c7b226b696e64223a2272656675736564222c227265667573616c223a7b2266696c746572223a22746172676574222c226d657373616765223a226973206e6f7420746865207461726765742061736b656420666f722028706172697329222c2273756d6d617279223a226973206e6f7420746865207461726765742061736b656420666f722028706172697329227d2c22616c736f526566757365644279223a5b5d7d5d5d2c226f70656e4e616d6573223a5b2270617274732f7265736f7572636573225d2c22636f6e7374616e7473223a5b5b312c31363030305d2c5b322c36383731393437363733365d2c5b332c305d2c5b342c305d2c5b352c31363030305d2c5b362c36383731393437363733365d2c5b372c305d2c5b382c305d2c5b392c305d2c5b31302c305d2c5b31312c305d2c5b31322c305d2c5b31332c6e756c6c5d5d7d00000000000031400000000000002040000000000000ed3f000000000000f87f000000000000ed3f000000000000f87f', 3004794379);
INSERT INTO broker.decision OVERRIDING SYSTEM VALUE VALUES (2, 'dec-1a1ed57d548588bb', 1794983318856, '\x250300007b2276657273696f6e223a312c226465636973696f6e223a7b226964223a226465632d31613165643537643534383538386262222c226174223a313739343938333331383835362c22726571756573746572223a22726f6d65222c2272657175657374223a7b227265736f7572636573223a7b226370754d696c6c6973223a323030302c226d656d6f72794279746573223a343239343936373239362c2273746f726167654279746573223a302c2267707573223a302c22657874656e646564223a7b7d7d2c227072696f72697479223a302c22746172676574223a227061726973222c22636f6e73747261696e7473223a7b7d2c2274696572223a226f6e2d64656d616e64227d2c22706f6c69637956657273696f6e223a2264656661756c74222c2277656967687473223a7b227265736f7572636573223a302e372c22636f7374223a302e332c226c6174656e6379223a302c2272656c696162696c697479223a307d2c2263757272656e6379223a22455552222c2277696e6e6572223a227061726973222c226d61726b6574223a7b226d656469616e526174696e6773223a7b7d7d2c22636f6e73696465726564223a322c22666974746564223a312c22726566757365644279223a7b22746172676574223a317d7d2c22636c7573746572496473223a5b227061726973222c22746f6b796f225d2c2272656675736564223a5b5b312c7b226b696e64223a2272656675736564222c227265667573616c223a7b2266696c746572223a22746172676574222c226d657373616765223a226973206e6f7420746865207461726765742061736b656420666f722028706172697329222c2273756d6d617279223a226973206e6f7420746865207461726765742061736b656420666f722028706172697329227d2c22616c736f526566757365644279223a5b5d7d5d5d2c226f70656e4e616d6573223a5b2270617274732f7265736f7572636573225d2c22636f6e7374616e7473223a5b5b332c305d2c5b342c305d2c5b352c31363030305d2c5b362c36383731393437363733365d2c5b372c305d2c5b382c305d2c5b31312c305d2c5b31322c305d2c5b31332c6e756c6c5d5d7d0000000000003e400000000000003540000000000058cb40000000000040cf400000000000002e4200000000000030420000000000409f400000000000000000000000000000f0410000000000000000000000000000ea3f000000000000f87f000000000000ea3f000000000000f87f', 4000848359);
INSERT INTO broker.lease VALUES (1, 1, '00432b0d-d035-48ba-bb49-e51b41432de8', 'old:1', '2026-11-18 06:28:38.882604+00', '1a6b15b2-3e96-494d-9273-b408123325c7', 4, 1794983318872, 5, 'f53d1455e281497aac1a3af67170786def7b1bc9b7978c964eb2c45a6578e67d', 0, '0000000000000000000000000000000000000000000000000000000000000000', 2869863441);
INSERT INTO broker.migration VALUES (1);
INSERT INTO broker.migration VALUES (2);
INSERT INTO broker.migration VALUES (3);
INSERT INTO broker.reservation VALUES ('rsv-rome-upj6vwe7em7sesm7', 'Reserved', '{"id":"rsv-rome-upj6vwe7em7sesm7","requester":"rome","provider":"paris","granted":{"cpuMillis":2000,"memoryBytes":4294967296,"storageBytes":0,"gpus":0,"extended":{}},"request":{"resources":{"cpuMillis":2000,"memoryBytes":4294967296,"storageBytes":0,"gpus":0,"extended":{}},"priority":0,"target":"paris","constraints":{},"tier":"on-demand"},"key":"kept","decisionId":"dec-1a1ed57d53a4b36e","phase":"Reserved","createdAt":1794983318843,"reservedAt":1794983318843,"acknowledged":false,"generation":1}', 1600970348);
INSERT INTO broker.reservation VALUES ('rsv-rome-kepkuzrrvc3onftg', 'Released', '{"id":"rsv-rome-kepkuzrrvc3onftg","requester":"rome","provider":"paris","granted":{"cpuMillis":2000,"memoryBytes":4294967296,"storageBytes":0,"gpus":0,"extended":{}},"request":{"resources":{"cpuMillis":2000,"memoryBytes":4294967296,"storageBytes":0,"gpus":0,"extended":{}},"priority":0,"target":"paris","constraints":{},"tier":"on-demand"},"key":"released","decisionId":"dec-1a1ed57d548588bb","phase":"Released","createdAt":1794983318856,"reservedAt":1794983318856,"acknowledged":false,"generation":2,"reason":"ReleasedByRequester","endedAt":1794983318861,"keepUntil":1795069718861}', 3191824393);
INSERT INTO broker.table_sum VALUES ('closed_key', 0, 0);
INSERT INTO broker.table_sum VALUES ('adoption', 1, 3158591908);
INSERT INTO broker.table_sum VALUES ('reservation', 2, 4792794741);
INSERT INTO broker.table_sum VALUES ('cordon', 1, 2887864799);
INSERT INTO broker.table_sum VALUES ('advertisement', 2, 4532973652);
INSERT INTO broker.term VALUES (1, 'old:1', 0, '2026-11-18 06:28:38.794482+00');
SELECT pg_catalog.setval('broker.decision_sequence_seq', 2, true);
ALTER TABLE ONLY broker.adoption
    ADD CONSTRAINT adoption_pkey PRIMARY KEY (name);
ALTER TABLE ONLY broker.advertisement
    ADD CONSTRAINT advertisement_pkey PRIMARY KEY (cluster_id);
ALTER TABLE ONLY broker.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY broker.closed_key
    ADD CONSTRAINT closed_key_pkey PRIMARY KEY (name);
ALTER TABLE ONLY broker.cordon
    ADD CONSTRAINT cordon_pkey PRIMARY KEY (cluster_id);
ALTER TABLE ONLY broker.decision
    ADD CONSTRAINT decision_id_key UNIQUE (id);
ALTER TABLE ONLY broker.decision
    ADD CONSTRAINT decision_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY broker.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (one);
ALTER TABLE ONLY broker.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);
ALTER TABLE ONLY broker.reservation
    ADD CONSTRAINT reservation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY broker.table_sum
    ADD CONSTRAINT table_sum_pkey PRIMARY KEY (name);
ALTER TABLE ONLY broker.term
    ADD CONSTRAINT term_pkey PRIMARY KEY (epoch);
