import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { Fault } from '@secrets/domain';
import { abortable, parseResponse } from '@secrets/sync-worker';
import { z } from 'zod';
import { withFaults } from './call-faults.ts';
import type { ClientOptions, Credentials } from './credentials.ts';

const operation = 'GetCallerIdentity';
const Identity = z.object({ Account: z.string().regex(/^\d{12}$/) });

/**
 * Returns the account of the credentials. Needs no permission
 * (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).
 */
export async function ownAccount(
  link: ClientOptions,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<string> {
  const client = new STSClient({ ...link, credentials });
  const timedOut = () => new Fault('unavailable', `${operation}: the call was aborted at its time limit`);
  try {
    const response = await withFaults(operation, () =>
      abortable(client.send(new GetCallerIdentityCommand({}), { abortSignal: signal }), signal, timedOut),
    );
    return parseResponse(operation, Identity, response).Account;
  } finally {
    client.destroy();
  }
}
