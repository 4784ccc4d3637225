import type { Fault } from '@secrets/domain';
import { type CodeKind, type ErrorResponse, providerFault, responseFault } from './provider-fault.ts';

/** A documented refusal of a provider: how its response is recognised, and what it means. */
export interface Refusal {
  /** Absent: the response may have any status. */
  status?: readonly number[];
  /** Absent: it may have any code, or none. */
  code?: readonly string[];
  /** Pattern of the provider's own text. The text is only compared, never shown: it may contain values. */
  text?: RegExp;
  kind: CodeKind;
  /** The cause, as `last_error` states it. */
  sentence: string;
  /** The operator's remedy; absent if it is to wait. */
  remedy?: string;
  /** Address of the provider's page that documents it. */
  source: string;
}

/** An error response, with the provider's own text. */
export interface RefusedResponse extends ErrorResponse {
  text?: string | undefined;
}

/**
 * Returns the fault of an error response: that of the first refusal of the table that it matches, otherwise that of its
 * status. Undefined if the response is not an error.
 */
export function refusedFault(
  operation: string,
  { text = '', ...response }: RefusedResponse,
  refusals: readonly Refusal[],
): Fault | undefined {
  const matches = ({ status, code, text: pattern }: Refusal): boolean =>
    (status?.includes(response.status) ?? true) &&
    (code === undefined || (response.code !== undefined && code.includes(response.code))) &&
    (pattern?.test(text) ?? true);
  const found = refusals.find(matches);
  if (found === undefined) return providerFault(operation, response, new Map());
  const fault = responseFault(found.kind, `${operation}: ${found.sentence}`, response);
  if (found.remedy !== undefined) fault.message += `; ${found.remedy}`;
  return fault;
}
