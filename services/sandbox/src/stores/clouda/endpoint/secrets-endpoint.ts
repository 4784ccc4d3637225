import type { Response } from 'express';
import { z } from 'zod';
import type { Lag } from '../../../faults/fault-injector.ts';
import { serveCall } from '../../../simulation/serve-call.ts';
import { AwsError } from '../aws-error.ts';
import { verifySignature } from '../credentials/request-signature.ts';
import { operations } from '../operations/operations.ts';
import { type CloudAContext, type IncomingCall, loggedFields } from './incoming-call.ts';
import { secretsErrors, secretsResponse } from './secrets-protocol.ts';

/** Serves a call to the secrets manager. */
export async function serveSecretsManager(
  context: CloudAContext,
  call: IncomingCall,
  response: Response,
): Promise<void> {
  const { headers, body } = call.request;
  const name = (headers['x-amz-target'] ?? '').replace(/^secretsmanager\./, '').slice(0, 64);
  const input = parseJsonObject(body);
  const fields = { operation: name, input: input ?? {}, name: secretNameIn(input ?? {}) };
  const calls = { ...context.calls, errors: secretsErrors };
  await serveCall(calls, loggedFields(call, fields), response, async (lag) =>
    secretsResponse(200, await perform(context, call, { name, input, lag })),
  );
}

async function perform(
  context: CloudAContext,
  { request, authorization }: IncomingCall,
  { name, input, lag }: { name: string; input: object | undefined; lag: Lag },
): Promise<object> {
  const { calls, keys, limits } = context;
  const sentAtMs = calls.now();
  const signature = { keys, service: 'secretsmanager', nowMs: sentAtMs };
  const signer = await verifySignature(request, authorization, signature);
  const operation = operations.get(name);
  if (!operation || request.method !== 'POST')
    throw new AwsError('UnknownOperationException', 'No such operation.');
  if (!input) throw new AwsError('SerializationException', 'The body is not a JSON object.');
  const staleMs = lagOf(name, lag);
  const nowMs = sentAtMs - staleMs;
  const regions = staleMs === 0 ? context.regions : context.regions.asOf(nowMs);
  const store = regions.of(signer.accountId, authorization?.region ?? '');
  return withValidationErrors(() => operation.run({ store, regions, nowMs, ...limits }, input));
}

/**
 * Returns how many milliseconds the response is behind the current state. Lists may lack the changes of five minutes
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_ListSecrets.html). That page recommends
 * DescribeSecret instead; no consistency is promised for it, and Terraform's provider waits until it finds what was
 * created, so it may be behind, too.
 */
function lagOf(operation: string, { readMs, listMs }: Lag): number {
  if (operation.startsWith('List')) return listMs;
  return operation === 'DescribeSecret' || operation === 'GetSecretValue' ? readMs : 0;
}

/** Turns an input of the wrong shape into the service's `ValidationException`. */
function withValidationErrors(run: () => object): object {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    throw new AwsError(
      'ValidationException',
      `Value at '${issue?.path.join('.')}' failed to satisfy constraint`,
    );
  }
}

function parseJsonObject(body: Buffer): object | undefined {
  try {
    const content: unknown = JSON.parse(body.toString());
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/** The name of the secret that a call is about. An ARN is reduced to the name that it contains. */
function secretNameIn(input: { SecretId?: unknown; Name?: unknown }): string | undefined {
  const id = input.SecretId ?? input.Name;
  if (typeof id !== 'string') return undefined;
  return id
    .replace(/^arn:aws:secretsmanager:[^:]*:[^:]*:secret:(.*?)(-[A-Za-z0-9]{6})?$/, '$1')
    .slice(0, 512);
}
