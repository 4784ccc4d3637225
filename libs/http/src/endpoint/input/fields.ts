// Field types of request bodies: docs/conventions.md#16-field-types.

export {
  flag,
  integer,
  integerBetween,
  seconds,
  secondsBetween,
  stringList,
  stringMap,
} from '@secrets/domain';
