import { type Belonging, maxListed } from '@secrets/domain';
import { type Endpoint, endpoint, pageQuery } from '@secrets/http';
import type { Context } from '../../context.ts';
import { type ExternalSecret, listExternalSecrets } from '../../destinations/calls/list-external-secrets.ts';
import { DestinationParams, ListPosition } from '../fields.ts';

/** The external secrets in the store of a destination (docs/conventions/sync-operation.md#what-is-in-a-store). */
export const externalSecretEndpoints = (context: Context): Endpoint[] => [readExternalSecrets(context)];

const readExternalSecrets = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/sync/destinations/:type/:name/external-secrets',
    summary: 'Read what is in the store of a destination, whoever it belongs to, without values',
    params: DestinationParams,
    query: pageQuery({ max: maxListed, after: ListPosition }),
    asksOutside: true,
    handle: async ({ params, query, caller, warn }) => {
      const { shownType, ...ref } = params;
      const { secrets, next } = await listExternalSecrets(context, caller, { ...ref, ...query });
      if (next !== undefined) warn('there may be more: ask again with `next` as `after`');
      return {
        data: {
          external_secrets: secrets.map(presentSecret),
          store_name: ref.name,
          store_type: shownType,
          ...(next === undefined ? {} : { next }),
        },
      };
    },
  });

const owners: Record<Belonging, string> = {
  own: 'this_destination',
  other: 'another_destination',
  none: 'none',
  provider: 'provider',
};

/** The destination owns what its entries have written, also where the store shows no owner. */
const ownerOf = ({ belongs, entry }: ExternalSecret): string =>
  owners[belongs === 'none' && entry?.isWritten ? 'own' : belongs];

const presentSecret = (secret: ExternalSecret) => ({
  name: secret.name,
  owner: ownerOf(secret),
  readable: secret.isReadable,
  created_at: secret.createdAt,
  changed_at: secret.changedAt,
  association: secret.entry === undefined ? null : presentHolder(secret.entry),
});

const presentHolder = ({ mount, secretName, subKey }: NonNullable<ExternalSecret['entry']>) => ({
  mount,
  secret_name: secretName,
  sub_key: subKey,
});
