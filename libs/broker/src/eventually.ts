/** Runs `check` until it does not throw, for tests; after `ms` its last error is thrown. */
export async function eventually(check: () => void | Promise<void>, ms = 60_000): Promise<void> {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
