import { describeType } from '../../../libs/destinations/src/description.ts';
import {
  commonFields,
  secretText,
  tagFields,
  textLike,
} from '../../../libs/destinations/src/fields/common-fields.ts';
import { connection, secret } from '../../../libs/destinations/src/fields/field.ts';
import { truncateSha256 } from '../../../libs/destinations/src/names/template/name-functions.ts';
import { builtInTagCount } from '../../../libs/destinations/src/tags/built-in-tags.ts';

const maxNameLength = 100;

const fields = {
  access_token: secret(secretText(256), { help: 'Token that may write notes.' }),
  folder: connection(textLike(/^[a-z0-9]{1,40}$/, 'must have 1 to 40 lower-case letters and digits'), {
    default: 'main',
    immutable: true,
    help: 'Folder of the notes.',
  }),
  ...tagFields,
  ...commonFields('secret-path'),
};

/** notes-kv: notes with tags (https://notes.example/docs/limits). */
export const notesKv = describeType({
  type: 'notes-kv',
  fields,
  supportsTags: true,
  tagRule: {
    maxCustomTags: 20 - builtInTagCount,
    check: (key, value) =>
      key.length <= 64 && value.length <= 64 ? undefined : 'must have at most 64 characters in key and value',
  },
  maxValueBytes: 10_000,
  takesEmptyValue: false,
  account: (_settings, { access_token }) => [access_token ?? ''],
  budget: { perSecond: 10, burst: 20 },
  nameRule: {
    defaultTemplate: (prefix, granularity) =>
      `${prefix}_{{ .MountAccessor }}_{{ .SecretPath }}${granularity === 'secret-key' ? '_{{ .SecretKey }}' : ''}`,
    normalise: (name) => truncateSha256(name.replace(/[^A-Za-z0-9_]/gu, '_'), maxNameLength),
    check: (name) =>
      /^[A-Za-z0-9_]{1,100}$/.test(name) ? undefined : 'must have 1 to 100 letters, digits and underscores',
    collisionKey: (name) => name,
  },
  check: (_settings, credentials) => (credentials.has('access_token') ? [] : ['access_token: is required']),
});
