/** The longest time that a request may wait for a version to arrive (docs/conventions/sync.md#waiting-for-a-version). */
export const maxVersionWaitSeconds = 60;
