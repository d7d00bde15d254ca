// Lets the search of the built site work from a folder: browsers refuse workers there, so the search runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.room = frame.contentWindow
      this.room.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise((resolve, reject) => {
        const element = this.room.document.createElement("script")
        Object.assign(element, { src: script, onload: resolve, onerror: reject })
        this.room.document.head.append(element)
      })
    }

    postMessage(data) {
      this.ready.then(() => this.room.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
