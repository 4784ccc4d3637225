import { changeTag } from '@secrets/access';
import type { Endpoint } from '@secrets/http';
import type { Context } from '../../context.ts';
import { requireGroupAlias, saveGroupAlias } from '../../identities/save-group-alias.ts';
import { deleteGroupAlias, findGroupAlias, listGroupAliases } from '../../queries/groups.ts';
import { revoking } from '../../queries/tokens/revocations.ts';
import { type AliasResource, aliasEndpoints } from './alias-endpoints.ts';

/** `identity/group-alias`: which group of a directory a group is (docs/conventions/access.md#groups). */
export const groupAliasEndpoints = (context: Context): Endpoint[] => aliasEndpoints(context, groupAliases);

const groupAliases: AliasResource = {
  name: 'group-alias',
  owner: 'a group',
  owners: 'groups',
  summaries: {
    write: 'Create the alias of a group, or update the one of an ID, or of a mount and a name',
    remove: 'Delete the alias of a group, which has no members any more',
  },
  list: ({ db }, caller, range) => listGroupAliases(db, caller.namespace.id, range),
  require: requireGroupAlias,
  save: saveGroupAlias,
  async remove({ db }, caller, id) {
    const alias = await findGroupAlias(db, caller.namespace.id, id);
    if (alias === undefined) return;
    await revoking(db, (tx) => deleteGroupAlias(tx, alias.id), [changeTag.groups(caller.namespace.id)]);
  },
};
