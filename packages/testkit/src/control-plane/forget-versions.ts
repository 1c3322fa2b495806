interface EtcdHeader {
  readonly header?: { readonly revision?: string };
}

/** Makes an etcd forget every version but the newest, as the API server does every five minutes. */
export async function compactEtcd(port: number): Promise<void> {
  const ask = async (path: string, body: object): Promise<EtcdHeader> => {
    const reply = await fetch(`http://127.0.0.1:${port}/v3/kv/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`etcd refuses ${path}: ${await reply.text()}`);
    return (await reply.json()) as EtcdHeader;
  };
  // Any key will do: each answer says what the newest version is.
  const { header } = await ask("range", { key: Buffer.from("/").toString("base64") });
  await ask("compaction", { revision: header?.revision, physical: true });
}
