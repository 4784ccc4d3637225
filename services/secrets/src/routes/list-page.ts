import { pageQuery } from '@secrets/http';

/** The query of a list: names after `after`, at most `limit`. */
export const Page = pageQuery({ max: 10_000 });
