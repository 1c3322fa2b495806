/** The contents of every block with this label, in order. */
export function pemBlocks(pem: string, label: string): Buffer[] {
  const pattern = new RegExp(`-----BEGIN ${label}-----([^-]*)-----END ${label}-----`, "g");
  return Array.from(pem.matchAll(pattern), ([, body = ""]) => Buffer.from(body, "base64"));
}
