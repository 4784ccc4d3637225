import { type Answer, expectStatus, send } from '../../harness/http.ts';
import type { Step } from './operations.ts';

interface CreatedToken {
  token: string;
  accessor: string;
}

const everything =
  'path "*" { capabilities = ["create", "read", "update", "patch", "delete", "list", "sudo"] }';

/** One of the two servers, with the tokens that the sequence has created there. */
export class Side {
  readonly #url: string;
  readonly #rootToken: string;
  readonly #namespace: string;
  readonly #tokens: CreatedToken[] = [];

  /** @param namespace In which the sequence takes place. */
  constructor(server: { url: string; rootToken: string }, namespace: string) {
    this.#url = server.url;
    this.#rootToken = server.rootToken;
    this.#namespace = namespace;
  }

  /** Creates the namespace of the sequence, and in it a token that may do everything, which the sequence may revoke. */
  async begin(): Promise<void> {
    await this.#post('', `sys/namespaces/${this.#namespace}`, {});
    await this.#post(this.#namespace, 'sys/policies/acl/admin', { policy: everything });
    const request = { policies: ['admin'], no_parent: true, ttl: '10h' };
    this.note(await this.#post(this.#namespace, 'auth/token/create', request));
  }

  async #post(namespace: string, path: string, body: object): Promise<Answer> {
    const headers = { 'x-vault-token': this.#rootToken, 'x-vault-namespace': namespace };
    const answer = await send(`${this.#url}/v1/${path}`, 'POST', { headers, body });
    return answer.status === 204 ? answer : expectStatus(answer, 200);
  }

  play({ method, path, body, namespace, token, about }: Step): Promise<Answer> {
    const headers = {
      'x-vault-token': this.#tokens[token]?.token ?? 'none',
      'x-vault-namespace': namespace === '' ? this.#namespace : `${this.#namespace}/${namespace}`,
    };
    const subject = about && { [about.field]: this.#tokens[about.token]?.[about.field] ?? 'none' };
    const content = body === undefined ? {} : { body: { ...body, ...subject } };
    // OpenBao requires the type of a merge patch.
    const type = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    return send(`${this.#url}/v1/${path}`, method, { headers: { ...headers, ...type }, ...content });
  }

  /** Notes the token that a response contains. */
  note({ body }: Answer): void {
    const { client_token, accessor } = body.auth;
    this.#tokens.push({ token: client_token, accessor });
  }
}
