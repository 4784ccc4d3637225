import type { Response } from 'express';
import type { HttpResponse } from '../../../simulation/http-response.ts';
import { serveCall } from '../../../simulation/serve-call.ts';
import { AwsError } from '../aws-error.ts';
import { assumeRole, callerIdentity } from '../credentials/assume-role.ts';
import { assumeRoleWithWebIdentity } from '../credentials/assume-role-with-web-identity.ts';
import { verifySignature } from '../credentials/request-signature.ts';
import { type CloudAContext, type IncomingCall, loggedFields } from './incoming-call.ts';
import { stsErrors, stsResponse } from './sts-protocol.ts';

/** Serves a call to the token service. */
export async function serveSts(
  context: CloudAContext,
  call: IncomingCall,
  response: Response,
): Promise<void> {
  const input = Object.fromEntries(new URLSearchParams(call.request.body.toString()));
  const operation = (input.Action ?? '').slice(0, 64);
  const calls = { ...context.calls, errors: stsErrors };
  const logged = loggedFields(call, { operation, input, name: input.RoleArn });
  await serveCall(calls, logged, response, () => perform(context, call, operation, input));
}

async function perform(
  { calls, keys, sts: { roles, sessionSeconds, federation } }: CloudAContext,
  { request, authorization }: IncomingCall,
  action: string,
  input: Record<string, string>,
): Promise<HttpResponse> {
  const nowMs = calls.now();
  const options = { keys, roles, sessionSeconds, nowMs };
  if (action === 'AssumeRoleWithWebIdentity')
    return stsResponse(action, await assumeRoleWithWebIdentity(input, { ...options, federation }));
  const signer = await verifySignature(request, authorization, { keys, service: 'sts', nowMs });
  if (action === 'GetCallerIdentity') return stsResponse(action, callerIdentity(signer));
  if (action !== 'AssumeRole') throw new AwsError('InvalidAction', `Could not find operation ${action}.`);
  return stsResponse(action, assumeRole(input, signer, options));
}
