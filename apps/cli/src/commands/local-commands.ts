import type { CommandGroup, Entry } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import {
  BACKUP_OPTIONS,
  CERTS_INIT_OPTIONS,
  CERTS_ISSUE_OPTIONS,
  CERTS_RENEW_OPTIONS,
  CERTS_REVOKE_OPTIONS,
  CERTS_SHOW_OPTIONS,
  CERTS_SIGN_OPTIONS,
  RESTORE_OPTIONS,
} from "./local-options.ts";

const CERTS_DETAILS = `A small certificate authority in a folder, for installations without cert-manager:

  certs/ca/                ca.crt, ca.key, crl.pem, issued.json, and for admins admin-ca.crt,
                           admin-ca.key: keep this folder private
  certs/broker/            tls.crt, tls.key, ca.crt, crl.pem, admin-ca.crt: for the broker's
                           --http-cert-path
  certs/enrollment/        tls.crt, tls.key, ca.crt: for the broker's --enrollment-cert-path
  certs/clusters/<id>/     tls.crt, tls.key, ca.crt: for that agent's --broker-cert-path`;

export const CERTS: CommandGroup = {
  name: "certs",
  summary: "Makes, renews, revokes and shows the certificates of the broker and its clusters",
  details: CERTS_DETAILS,
  commands: [
    defineCommand({
      name: "init",
      summary: "Makes the certificate authorities and the broker's certificate",
      details: "Makes only what is missing: running it again changes nothing.",
      options: CERTS_INIT_OPTIONS,
      examples: ["brokerctl certs init", "brokerctl certs init --host broker.example.org --host 10.0.0.7"],
      load: async () => (await import("../certs/init.ts")).init,
    }),
    defineCommand({
      name: "issue",
      summary: "Makes the certificate with which a cluster's agent, or an admin, calls the broker",
      arguments: [
        { name: "cluster-id", summary: "the cluster's ID, or the admin's name: a-z, 0-9, dots and dashes" },
      ],
      options: CERTS_ISSUE_OPTIONS,
      examples: ["brokerctl certs issue rome", "brokerctl certs issue alice --admin --days 30"],
      load: async () => (await import("../certs/issue.ts")).issue,
    }),
    defineCommand({
      name: "sign",
      summary: "Signs a request (CSR), so that the key never leaves the cluster that made it",
      details: `The request must be for exactly CN=<cluster ID>: no other attribute, no extension. The certificate is
written beside those of certs issue, without a key.`,
      arguments: [
        { name: "cluster-id", summary: "whose request it must be; else whoever it names", optional: true },
      ],
      options: CERTS_SIGN_OPTIONS,
      examples: ["brokerctl certs sign rome --csr rome.csr"],
      load: async () => (await import("../certs/sign.ts")).sign,
    }),
    defineCommand({
      name: "renew",
      summary: "Makes a new certificate with the same names",
      details:
        "The old certificate stays valid until it expires, so there is time to distribute the new one.",
      arguments: [{ name: "name", summary: 'a cluster ID, or "broker"', optional: true }],
      options: CERTS_RENEW_OPTIONS,
      examples: [
        "brokerctl certs renew rome",
        "brokerctl certs renew --all --within 30d",
        "brokerctl certs renew --ca",
        "brokerctl certs renew --enrollment",
      ],
      load: async () => (await import("../certs/renew.ts")).renew,
    }),
    defineCommand({
      name: "revoke",
      summary: "Puts certificates on the revocation list, so that the broker refuses them",
      details:
        "A cluster ID revokes every certificate that cluster ever got; a serial number revokes that one.\nThe list is signed anew and copied to the broker's folder, where the broker reads it without a restart.",
      arguments: [{ name: "cluster-id|serial", summary: "whose certificates, or which one" }],
      options: CERTS_REVOKE_OPTIONS,
      examples: ["brokerctl certs revoke rome --reason keyCompromise"],
      load: async () => (await import("../certs/revoke.ts")).revoke,
    }),
    defineCommand({
      name: "show",
      summary: "Shows certificates: whose, until when, signed by whom, revoked or not",
      arguments: [
        {
          name: "name|folder|file",
          summary:
            "one certificate (ca, admin-ca, enrollment, broker, a cluster ID or a path); else all of them",
          optional: true,
        },
      ],
      options: CERTS_SHOW_OPTIONS,
      examples: [
        "brokerctl certs show",
        "brokerctl certs show rome",
        "brokerctl certs show /etc/broker/certs -o json",
      ],
      load: async () => (await import("../certs/show.ts")).show,
    }),
  ],
};

/** What is done to the files of an embedded store. */
export const LEDGER_COMMANDS: readonly Entry[] = [
  defineCommand({
    name: "backup",
    summary: "Copies the ledger into one file; the broker may run or not",
    arguments: [{ name: "file", summary: "the copy to write; must not exist yet" }],
    options: BACKUP_OPTIONS,
    examples: ["brokerctl backup --store sqlite:data copy.db"],
    load: async () => (await import("../ledger/ledger.ts")).backup,
  }),
  defineCommand({
    name: "restore",
    summary: "Puts a copy in place of the ledger, after checking it; the broker must be stopped",
    arguments: [{ name: "file", summary: "a copy made by brokerctl backup" }],
    options: RESTORE_OPTIONS,
    examples: ["brokerctl restore --store sqlite:data --force copy.db"],
    load: async () => (await import("../ledger/ledger.ts")).restore,
  }),
];
