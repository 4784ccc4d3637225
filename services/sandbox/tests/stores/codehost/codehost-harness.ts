import { Octokit } from '@octokit/rest';
import sodium from 'libsodium-wrappers';
import { type CodehostOptions, type Sandbox, startSandbox } from '../../../src/index.ts';

/** The sandbox with the provider's own client. */
export interface CodehostHarness {
  sandbox: Sandbox;
  octokit: Octokit;
  /** A client with other options, such as another token. */
  clientWith(options: ConstructorParameters<typeof Octokit>[0]): Octokit;
  /** Writes a secret of the repository `acme/web`. */
  write(name: string, value: string): Promise<number>;
  stop(): Promise<void>;
}

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** The repository of the tests. */
export const web = { owner: 'acme', repo: 'web' };

export async function startCodehost(
  codehost: CodehostOptions = {},
  over: { clock?: () => number; dataFile?: string } = {},
): Promise<CodehostHarness> {
  const sandbox = await startSandbox({ codehost, ...over });
  const { accessToken } = sandbox.credentials.codehost;
  const clientWith: CodehostHarness['clientWith'] = (options) =>
    new Octokit({ baseUrl: sandbox.codehostUrl, auth: accessToken, log, ...options });
  const octokit = clientWith({});
  return {
    sandbox,
    octokit,
    clientWith,
    async write(name, value) {
      const { data: key } = await octokit.rest.actions.getRepoPublicKey(web);
      const sealed = { encrypted_value: await sealedFor(key.key, value), key_id: key.key_id };
      const request = { ...web, secret_name: name, ...sealed };
      return (await octokit.rest.actions.createOrUpdateRepoSecret(request)).status;
    },
    stop: () => sandbox.stop(),
  };
}

/** Seals a value for a public key, as the provider's documentation shows it. */
export async function sealedFor(publicKey: string, value: string): Promise<string> {
  await sodium.ready;
  const sealed = sodium.crypto_box_seal(sodium.from_string(value), Buffer.from(publicKey, 'base64'));
  return Buffer.from(sealed).toString('base64');
}
