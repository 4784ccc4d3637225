// Field types of request bodies: docs/conventions/http.md#field-types.

export {
  flag,
  integer,
  integerBetween,
  listOf,
  orPairs,
  seconds,
  secondsBetween,
  stringList,
  stringMap,
} from '@secrets/domain';
