import { expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import type { ConnectedDestination, DriverContext } from '../../driver/driver.ts';

type IdentityToken = DriverContext['identityToken'];

/** Tests how a driver that signs in with identity tokens reports that it gets none. */
export function identityTokenTests({
  connect,
  put,
  identityToken,
}: {
  connect(identityToken: IdentityToken): Promise<ConnectedDestination>;
  put(connected: ConnectedDestination): Promise<unknown>;
  /** Issues tokens that the destination accepts. */
  identityToken: IdentityToken;
}): void {
  test.each(['unauthenticated', 'unavailable'] as const)(
    'if no identity token is issued, its own fault is reported: %s',
    async (kind) => {
      let isFailing = true;
      const connected = await connect(async (options) => {
        if (isFailing) throw new Fault(kind, 'requesting an identity token: a sentence');
        return identityToken(options);
      });
      await expect(put(connected)).rejects.toMatchObject({
        kind,
        message: 'requesting an identity token: a sentence',
      });
      isFailing = false;
      await put(connected);
    },
  );
}
