// What `npm run build` makes of src/report/html/browser: the page's script and style, each as one text.
export declare const script: string;
export declare const style: string;
