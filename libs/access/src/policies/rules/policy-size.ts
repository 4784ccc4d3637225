import { Problem } from '@secrets/domain';

/** The size of policies that are evaluated together. */
export interface PolicySize {
  paths: number;
  /** Those of them with `+`, which take more memory and time. */
  plusPaths: number;
}

const maxPaths = 5_000;
export const maxPlusPaths = 500;

const isEvaluable = ({ paths, plusPaths }: PolicySize): boolean =>
  paths <= maxPaths && plusPaths <= maxPlusPaths;

/** SQL condition: the policies whose size a row holds can be evaluated together. */
export const isEvaluableSql = (size: string): string =>
  `(${size}.paths <= ${maxPaths} and ${size}."plusPaths" <= ${maxPlusPaths})`;

/** SQL of a subquery: the size of the policies with these names in one namespace. */
export const policySizeSql = (namespaceId: string, names: string): string => `(
  select coalesce(sum(p.path_count), 0)::int as paths, coalesce(sum(p.plus_path_count), 0)::int as "plusPaths"
  from login.policies p where p.namespace_id = ${namespaceId} and p.name = any(${names})
)`;

/** The refusal of policies that are too large together. None are left out, because one that denies could be among them. */
export const tooLarge = ({ paths, plusPaths }: PolicySize): Problem =>
  new Problem(
    'forbidden',
    `the policies of this token and its identity have ${paths} paths together, ${plusPaths} of them with +; ` +
      `at most ${maxPaths} and ${maxPlusPaths} can be evaluated`,
  );

/** Throws `forbidden` if policies are too large to be evaluated together. */
export function requireEvaluable(size: PolicySize): void {
  if (!isEvaluable(size)) throw tooLarge(size);
}
