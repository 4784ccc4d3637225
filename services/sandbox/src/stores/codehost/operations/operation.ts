import type { HttpResponse } from '../../../simulation/http-response.ts';
import type { CodehostStore } from '../store/codehost-store.ts';

/** The application that is registered, with its one installation. */
interface Application {
  id: string;
  installationId: string;
  issue(installation: string): { token: string; expiresAt: string };
}

/** Context of an operation: the store, the application, the time, and what the responses depend on. */
export interface OperationContext {
  store: CodehostStore;
  seed: string;
  /** The URL of the endpoint as the client addressed it, without a slash at its end. */
  baseUrl: string;
  nowMs: number;
  app: Application;
  /** Whether an organization's secret can be written without a value, to change who sees it. */
  takesAccessAlone: boolean;
}

/** A request, already parsed. */
export interface OperationRequest {
  method: string;
  /** The path below the endpoint, as the client sent it. */
  path: string;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: Readonly<Record<string, unknown>>;
  /** The entity tag that the client has already. */
  ifNoneMatch?: string | undefined;
}

/** @throws CodehostError for every error response */
export type Operation = (
  context: OperationContext,
  request: OperationRequest,
) => HttpResponse | Promise<HttpResponse>;

/** A time as the code host writes it: without milliseconds. */
export const isoSeconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** The response of an operation that returns nothing. */
export const noContent: HttpResponse = { status: 204, headers: {}, body: '' };
