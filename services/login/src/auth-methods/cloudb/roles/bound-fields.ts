import { type SettingField, setting, withoutNul } from '@secrets/domain';
import { stringList } from '@secrets/http';

const maxBounds = 1_000;
const values = stringList
  .refine((list) => list.length <= maxBounds, { error: `must have at most ${maxBounds} items` })
  .refine((list) => list.every((part) => part.length <= 512), {
    error: 'items must have at most 512 characters',
  })
  .meta({ type: 'array', maxItems: maxBounds, items: { type: 'string', maxLength: 512, ...withoutNul } });

/** The rules of a bound, from which its checks, its warnings and what a renewal needs are derived. */
interface BoundRules {
  /**
   * What must be among its values: the principal or one of its groups, a part of the place where the principal runs, or a claim
   * of the token, which is the first of these that the token has.
   */
  on: 'principal' | 'place' | { claims: readonly string[] };
  /** The noun for one of its values. */
  noun: string;
  /** The provider's grammar of its values; any other value never matches. Absent where any text may match. */
  grammar?: { expression: RegExp; what: string };
  /** Whether a role needs another bound besides, because too many principals meet it. */
  needsAnother?: true;
  /** Its meaning in the table of docs/api/access.md. */
  help: string;
  /** Whether Vault does not have it. */
  ownExtension?: true;
}

/** The declaration of a bound: a list of which one value must match. An empty list binds nothing. */
const bound = <const Rules extends BoundRules>(
  rules: Rules,
): SettingField<typeof values, 'stored'> & Rules => ({
  ...setting(values, { default: [] }),
  ...rules,
});

/** The fields of a role that restrict who may log in (docs/conventions/cloudb.md#roles). */
export const bounds = {
  bound_service_principal_ids: bound({
    on: 'principal',
    noun: 'service principal',
    help: 'identities that may log in',
  }),
  bound_group_ids: bound({ on: 'principal', noun: 'group', help: 'groups whose members may log in' }),
  bound_subscription_ids: bound({
    on: 'place',
    noun: 'subscription',
    grammar: {
      expression: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
      what: 'a subscription ID',
    },
    help: 'subscriptions in which they may run',
  }),
  bound_resource_groups: bound({
    on: 'place',
    noun: 'resource group',
    grammar: { expression: /^[^/]+$/, what: 'the name of a resource group' },
    help: 'resource groups in which they may run',
  }),
  bound_locations: bound({
    on: 'place',
    noun: 'location',
    needsAnother: true,
    help: 'locations in which they may run',
  }),
  bound_scale_sets: bound({
    on: 'place',
    noun: 'scale set',
    grammar: { expression: /^[A-Za-z0-9][A-Za-z0-9._-]*$/, what: 'the name of a scale set' },
    help: 'scale sets in which they may run',
  }),
};

type Bounds = typeof bounds;

/** The name of a field that restricts who may log in. */
export type BoundField = keyof Bounds;

/** The fields that bind a part of the place where a principal runs. */
export type PlaceField = {
  [Field in BoundField]: Bounds[Field]['on'] extends 'place' ? Field : never;
}[BoundField];

export const boundFields = Object.keys(bounds) as BoundField[];
const rulesOf = (field: BoundField): BoundRules => bounds[field];

/** The fields that suffice as the only bound of a role. */
export const sufficientFields = boundFields.filter((field) => rulesOf(field).needsAnother !== true);
export const insufficientFields = boundFields.filter((field) => rulesOf(field).needsAnother === true);

export const placeFields = [...sufficientFields, ...insufficientFields].filter(
  (field): field is PlaceField => rulesOf(field).on === 'place',
);

/** The fields that suffice to name principals. */
export const principalFields = sufficientFields.filter((field) => rulesOf(field).on !== 'place');

/** The fields that are compared with a claim, and the claims. */
export const claimFields: ReadonlyMap<BoundField, readonly string[]> = new Map(
  boundFields.flatMap((field) => {
    const { on } = rulesOf(field);
    return typeof on === 'string' ? [] : [[field, on.claims] as const];
  }),
);

/** The grammar of the values of a bound; undefined if any text may match. */
export const grammarOf = (field: BoundField): BoundRules['grammar'] => rulesOf(field).grammar;

/** Returns the nouns of the fields, as an enumeration such as `a, b or c`. */
export const namedBy = (fields: readonly BoundField[]): string =>
  anyOf(fields.map((field) => bounds[field].noun));

/** An enumeration such as `a, b or c`. */
export const anyOf = (words: readonly string[]): string => words.join(', ').replace(/, ([^,]+)$/, ' or $1');
