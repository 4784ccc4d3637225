import type { RuleSettings } from './rules/ruled.ts';

/** The act of a request of the load. */
export type Act =
  | { act: 'write'; key: string; value: string; cas?: number | undefined; version?: number }
  /** `version` is 0 if there was none; `value` is what it returned. */
  | { act: 'read'; key: string; token: string; version?: number; value?: string }
  | { act: 'set' | 'remove'; destination: string; key: string }
  /** The first version of a secret that rules match, and its metadata. */
  | { act: 'add'; key: string }
  | { act: 'tag'; key: string; value: string }
  | { act: 'rule'; destination: string; rule: string; settings: RuleSettings }
  | { act: 'end'; destination: string; rule: string; keep: boolean }
  | { act: 'purge' | 'create' | 'rename' | 'replan' | 'retry' | 'inspect'; destination: string }
  | { act: 'disable' | 'enable' }
  | { act: 'login'; token?: string }
  | { act: 'revoke'; token: string };

/** Outcome of a request. `unknown`: it may have taken effect, or may do so later. */
export type Outcome = 'ok' | 'failed' | 'unknown';

/** A request of the load. Times are those of `performance.now`, in milliseconds. */
export type Operation = Act & {
  /** The request ID. */
  id: string;
  client: string;
  /** The gateway that it was sent to. */
  gateway: string;
  invokedAt: number;
  endedAt: number;
  outcome: Outcome;
  /** 0 if there was no response. */
  status: number;
};

export type OperationOf<Kind extends Operation['act']> = Operation & { act: Kind };

/** The operations of a kind. */
export const ofKind = <Kind extends Operation['act']>(
  history: readonly Operation[],
  ...kinds: Kind[]
): OperationOf<Kind>[] =>
  history.filter((one): one is OperationOf<Kind> => (kinds as string[]).includes(one.act));
