// What `npm run build` makes of src/report/html/browser: the scripts of the report page and of the page of `stats`, and the
// style of both, each as one text.
export declare const script: string;
export declare const statsScript: string;
export declare const style: string;
