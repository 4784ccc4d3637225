/** A browser that follows the redirects of a sign-in, and keeps the cookies of the provider. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /**
   * Opens a URL and follows redirects until they lead to `redirectUri`. Returns what the provider has sent there.
   * @param form the answer to a page of the provider, such as `person=operator`
   * @throws if a page needs an answer and there is none
   */
  async signIn(url: string, redirectUri: string, form?: string): Promise<URLSearchParams> {
    let at = url;
    for (let redirects = 0; redirects < 20; redirects += 1) {
      if (at.startsWith(redirectUri)) return new URL(at).searchParams;
      const page = await this.#open(at);
      const next = page.headers.get('location') ?? (await this.#answer(at, page, form));
      at = new URL(next, at).href;
    }
    throw new Error('too many redirects');
  }

  async #answer(at: string, page: Response, form: string | undefined): Promise<string> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const answered =
      form === undefined || page.status !== 200
        ? page
        : await this.#open(at, { method: 'POST', body: form, headers: type });
    const next = answered.headers.get('location');
    if (next === null) throw new Error(`the provider answered ${answered.status}: ${await answered.text()}`);
    return next;
  }

  async #open(url: string, init: { method?: string; body?: string; headers?: Record<string, string> } = {}) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { ...init.headers, cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(set)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }
}
