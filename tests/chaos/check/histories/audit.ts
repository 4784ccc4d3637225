import type { Operation } from '../../load/operation.ts';

/** The request IDs in the audit log of each gateway, of lines with the outcome. */
export type AuditedOutcomes = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns each request that succeeded without a line about its outcome in the audit log of the gateway that served it. */
export const checkAudit = (history: readonly Operation[], audited: AuditedOutcomes): string[] =>
  history
    .filter(({ outcome, gateway, id }) => outcome === 'ok' && audited.get(gateway)?.has(id) === false)
    .map(({ act, gateway, id }) => `${gateway} served a request (${act}) without an audit line: ${id}`);

const outcomeLine = /"type":"response".*?"request_id":"([^"]+)"/;

/** The request IDs in an audit log, of lines with the outcome. */
export const auditedOutcomes = (text: string): Set<string> =>
  new Set(text.split('\n').flatMap((line) => outcomeLine.exec(line)?.[1] ?? []));
