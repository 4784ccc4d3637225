import { Fault, Problem } from '@secrets/domain';
import type { DocumentFetch } from '@secrets/egress';
import { LRUCache } from 'lru-cache';

const maxAuthorities = 200;

/** Connections by the certificates that they trust, through the egress guard. */
export class TrustingFetches {
  readonly #create: (ca: string | undefined) => DocumentFetch;
  readonly #byCertificates = new LRUCache<string, DocumentFetch>({
    max: maxAuthorities,
    dispose: (unused) => unused.close(),
  });

  /** @param create returns a `fetch` for documents, which trusts these certificates */
  constructor(create: (ca: string | undefined) => DocumentFetch) {
    this.#create = create;
  }

  /**
   * Returns a `fetch` that trusts certificates in PEM; none are those of the system. It throws `bad_gateway` if the guard refuses
   * the address.
   */
  trusting(ca: string): DocumentFetch['fetch'] {
    const known = this.#byCertificates.get(ca) ?? this.#create(ca === '' ? undefined : ca);
    this.#byCertificates.set(ca, known);
    return (url, init) => known.fetch(url, init).catch(asRefusal);
  }
}

/** Whoever logs in must not learn which address a name resolves to. */
function asRefusal(error: unknown): never {
  const { cause } = error as Error;
  if (cause instanceof Fault && cause.kind === 'forbidden')
    throw new Problem(
      'bad_gateway',
      'the directory is at an address to which LOGIN_EGRESS_ALLOW permits no connection',
      { cause },
    );
  throw error;
}
