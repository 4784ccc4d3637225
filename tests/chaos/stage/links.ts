import { platform } from 'node:os';
import { type CutProxy, startCutProxy } from '../../../libs/testing/src/cut-proxy.ts';
import type { Upstream } from '../schedule/fault.ts';

const services = new Set(['LOGIN_URL', 'SECRETS_URL', 'SYNC_CONTROL_URL']);

function upstreamOf(variable: string): Upstream | undefined {
  if (variable === 'DATABASE_URL') return 'postgres';
  if (variable === 'AMQP_URL') return 'rabbit';
  if (services.has(variable)) return 'services';
  return variable.endsWith('_URL') ? 'stores' : undefined;
}

/** Variables of the shared environment that a service without such a connection ignores. */
const isUsed = (process: string, upstream: Upstream): boolean =>
  upstream !== 'rabbit' || !/^(gateway|login|sandbox)/.test(process);

/** The proxies between each process and what it connects to. */
export class Links {
  readonly #addresses = new Map<string, string>();
  readonly #proxies = new Map<string, Map<string, CutProxy>>();

  /**
   * Returns an environment of a process whose URLs lead through proxies that only this process uses. PostgreSQL sees
   * the name of the process as that of the application.
   */
  async route(process: string, env: Record<string, string>): Promise<Record<string, string>> {
    if (process === 'sandbox') return env;
    const routed = Object.entries(env).map(async ([variable, value]) => {
      const upstream = upstreamOf(variable);
      if (upstream === undefined || !isUsed(process, upstream)) return [variable, value];
      const urls = await Promise.all(value.split(',').map((url) => this.#through(process, upstream, url)));
      return [variable, upstream === 'postgres' ? `${urls[0]}?application_name=${process}` : urls.join()];
    });
    return Object.fromEntries(await Promise.all(routed));
  }

  /** The upstreams of each process, sorted. */
  get upstreams(): Record<string, Upstream[]> {
    const found: Record<string, Upstream[]> = {};
    for (const key of this.#proxies.keys()) {
      const [process, upstream] = key.split(' ') as [string, Upstream];
      found[process] = [...(found[process] ?? []), upstream].sort();
    }
    return found;
  }

  /** The address from which a process seems to connect to stores; undefined where the system has only one for its own use. */
  addressOf(process: string): string | undefined {
    if (platform() !== 'linux') return undefined;
    const known = this.#addresses.get(process) ?? `127.0.1.${this.#addresses.size + 1}`;
    this.#addresses.set(process, known);
    return known;
  }

  /** The proxies of a process to an upstream. */
  of(process: string, to: Upstream): CutProxy[] {
    return [...(this.#proxies.get(`${process} ${to}`)?.values() ?? [])];
  }

  /** The proxies of all processes to an upstream. */
  to(upstream: Upstream): CutProxy[] {
    return Object.keys(this.upstreams).flatMap((process) => this.of(process, upstream));
  }

  /** Ends every fault of every connection. */
  heal(): void {
    for (const proxies of this.#proxies.values())
      for (const proxy of proxies.values()) {
        proxy.open();
        proxy.delay(0);
        proxy.freeze(false);
      }
  }

  async end(): Promise<void> {
    const all = [...this.#proxies.values()].flatMap((proxies) => [...proxies.values()]);
    await Promise.all(all.map((proxy) => proxy.end()));
  }

  async #through(process: string, upstream: Upstream, url: string): Promise<string> {
    const { host } = new URL(url);
    const key = `${process} ${upstream}`;
    const proxies = this.#proxies.get(key) ?? new Map<string, CutProxy>();
    this.#proxies.set(key, proxies);
    const known = proxies.get(host);
    if (known !== undefined) return withHost(url, known);
    const proxy = await startCutProxy(url, {
      localAddress: upstream === 'stores' ? this.addressOf(process) : undefined,
    });
    const other = proxies.get(host); // started meanwhile
    if (other !== undefined) {
      await proxy.end();
      return withHost(url, other);
    }
    proxies.set(host, proxy);
    return withHost(url, proxy);
  }
}

function withHost(url: string, proxy: CutProxy): string {
  const through = Object.assign(new URL(url), { host: new URL(proxy.url).host }).toString();
  return url.endsWith('/') ? through : through.replace(/\/$/, '');
}
