/** The pages of the index that package.json ships. */
export declare const SHIPPED: RegExp
/** The text of `llms.txt`. */
export declare function llms(): Promise<string>
/** The text of `llms-full.txt`. */
export declare function llmsFull(): Promise<string>
