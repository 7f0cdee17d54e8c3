/** What a heading is called in an address. */
export declare function slugOf(heading: string): string
