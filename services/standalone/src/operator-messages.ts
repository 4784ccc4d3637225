import type { Standalone } from './app.ts';

/** What a newcomer reads: where it is, where the root token is, three calls to try. The first line is for programs. */
export function greeting({
  url,
  rootTokenFile,
  sandbox,
}: Pick<Standalone, 'url' | 'rootTokenFile' | 'sandbox'>): string {
  const header = `-H "X-Service-Token: $(cat ${rootTokenFile})"`;
  const store =
    sandbox === undefined ? '' : `The sandbox shows what each external store holds: ${sandbox.url}/\n`;
  return `ready ${url}
The root token is in ${rootTokenFile}
${store}Try:
  curl ${header} ${url}/v1/sys/mounts/secret -d '{"type": "kv"}'
  curl ${header} ${url}/v1/secret/data/hello -d '{"data": {"greeting": "world"}}'
  curl ${header} ${url}/v1/secret/data/hello
`;
}
